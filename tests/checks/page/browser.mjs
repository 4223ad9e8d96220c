// browser: a headless Chromium for the what-if page's tests, which records a page's requests and
// complaints.
//
// The driver is in build/page/tests/, where tests/checks/page/driver puts it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const { chromium } = createRequire(join(root, 'build/page/tests/x.js'))('playwright-core');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// use({ context, open }): open(file, fragment) returns a page with page.requests (addresses
// requested other than the file itself) and page.complaints (console errors and exceptions).
export async function with_browser(options, use) {
  const folder = mkdtempSync(join(tmpdir(), 'pertoken-page-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags,
    viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options,
  });
  try {
    return await use({ context, open: (file, fragment = '') => open(context, file, fragment) });
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function open(context, file, fragment) {
  const page = await context.newPage();
  const address = pathToFileURL(resolve(file)).href;
  page.requests = [];
  page.complaints = [];
  page.on('request', (request) => {
    const asked = request.url().split('#')[0];
    if (asked !== address && !asked.startsWith('data:') && !asked.startsWith('blob:'))
      page.requests.push(asked);
  });
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    page.complaints.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      page.complaints.push(message.text());
  });
  await page.goto(address + fragment);
  return page;
}
