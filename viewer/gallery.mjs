// node gallery.mjs --output FOLDER [--part 0.3] [--select BODY] [--xray] PAGE.html ...: a picture of each page, a part of its
// run after the start.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, open, settle } from './tests/page.mjs';

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string' }, part: { type: 'string', default: '0.3' }, select: { type: 'string' }, xray: { type: 'boolean' }, packages: { type: 'string' } },
});
const { browser, why } = await launch();
if (!browser) throw new Error(why);
mkdirSync(options.output, { recursive: true });
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
    console.log(`${picture}${ready === '1' ? '' : ': cannot be shown'}${wrong.length > 0 ? ` ${JSON.stringify(wrong)}` : ''}`);
    await page.context().close();
  }
} finally {
  await browser.close();
}
