// A picture of a what-if page, once tests/checks/page/driver has run:
//   node tests/checks/page/screenshot.mjs FILE.html OUT.png [--width N] [--height N] [--dark] [--full]
//        [--print] [--fragment 'case=dear_power']
// --full takes the whole page instead of a window of it; --print writes the printed page as a PDF.
import { parseArgs } from 'node:util';
import { with_browser } from './browser.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '1280' }, height: { type: 'string', default: '900' },
    dark: { type: 'boolean' }, full: { type: 'boolean' }, print: { type: 'boolean' },
    fragment: { type: 'string', default: '' },
  },
});
if (positionals.length !== 2) {
  console.error('usage: screenshot.mjs FILE.html OUT.png [--width N] [--height N] [--dark] ' +
    '[--full] [--print] [--fragment TEXT]');
  process.exit(2);
}

const [file, out] = positionals;
const viewport = { width: Number(values.width), height: Number(values.height) };
const colorScheme = values.dark ? 'dark' : 'light';
await with_browser({ viewport, colorScheme }, async ({ open }) => {
  const page = await open(file, values.fragment && `#${values.fragment}`);
  await page.waitForFunction(() => !uncertain || question?.result !== undefined);
  if (values.print)
    await page.pdf({ path: out, format: 'A4', printBackground: true });
  else
    await page.screenshot({ path: out, fullPage: values.full ?? false });
  for (const text of page.complaints)
    console.error(text);
});
