// Which options are ranked and which is the cheapest as shown by what-if pages, all in one browser:
//   node tests/checks/page/verdicts.mjs FILE.html ...
// Prints a JSON list: for each page cheapest (ids), not_ranked ({ id: why }), saving ({ id: in % })
// answer and detail, all read from the page's contents.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { with_browser } from './browser.mjs';

const read_page = () => {
  const cards = [...document.querySelectorAll('.card')];
  const id = (card) => card.dataset.option;
  const text = (card, name) => card.querySelector(name)?.textContent ?? '';
  const pairs = (read) => Object.fromEntries(cards.flatMap((card) => {
    const found = read(card);
    return found === null ? [] : [[id(card), found]];
  }));
  return {
    cheapest: cards.filter((card) => card.classList.contains('best')).map(id),
    not_ranked: pairs((card) => [...card.querySelectorAll('.stamp')].map((one) => one.textContent)
      .find((one) => one.startsWith('not ranked: '))?.slice('not ranked: '.length) ?? null),
    saving: pairs((card) => {
      const [, number, way] = /^([\d.]+) % (more|less)( than |$)/.exec(text(card, '.saving')) ?? [];
      if (text(card, '.saving').startsWith('as much'))
        return 0;
      return number === undefined ? null : (way === 'more' ? -1 : 1) * Number(number);
    }),
    answer: document.getElementById('answer').textContent,
    detail: document.getElementById('detail').textContent,
  };
};

await with_browser({}, async ({ open }) => {
  const files = process.argv.slice(2), found = [], page = await open(files[0]);
  for (const file of files) {
    await page.goto(pathToFileURL(resolve(file)).href);
    found.push(await page.evaluate(read_page));
  }
  console.log(JSON.stringify(found));
});
