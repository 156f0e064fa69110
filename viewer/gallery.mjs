// node gallery.mjs --output FOLDER [--part 0.3] [--select BODY] [--xray] PAGE.html ...: a picture of each page, a part of its
// run after the start. Ends with 1 where a page cannot be shown, says something in its console, or draws nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, open, settle } from './tests/page.mjs';
import { countColours, readPng } from './tests/picture.mjs';

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string' }, part: { type: 'string', default: '0.3' }, select: { type: 'string' }, xray: { type: 'boolean' }, packages: { type: 'string' } },
});
const fewestColours = 40; // of a scene, at 4 bits a channel, as in the tests of the page
const { browser, why } = await launch();
if (!browser) throw new Error(why);
mkdirSync(options.output, { recursive: true });
let bad = 0;

/** What is wrong with a page. */
async function faultsOf(page, ready, wrong) {
  if (ready !== '1') return [`cannot be shown: ${await page.locator('.refusal').textContent()}`];
  const colours = countColours(readPng(await page.locator('canvas').first().screenshot()));
  return [...wrong, ...(colours < fewestColours ? [`only ${colours} colours`] : [])];
}

try {
  for (const path of pages) {
    const { page, wrong, ready } = await open(browser, `file://${resolve(path)}`, { width: 1440, height: 860 });
    const prepare = ({ part, select, xray }) => {
      const { trammel } = window;
      trammel.seek(Number(part) * trammel.run.end);
      if (select) trammel.select(select);
      if (xray) trammel.state.set('xray', true);
    };
    if (ready === '1') await page.evaluate(prepare, { ...options });
    await settle(page);
    const picture = join(options.output, `${basename(path, '.html')}.png`);
    writeFileSync(picture, await page.screenshot());
    const faults = await faultsOf(page, ready, wrong);
    if (faults.length > 0) ++bad;
    console.log([picture, ...faults].join(': '));
    await page.context().close();
  }
} finally {
  await browser.close();
}
if (bad > 0) console.error(`${bad} of ${pages.length} pages are not as they should be`);
process.exitCode = bad > 0 ? 1 : 0;
