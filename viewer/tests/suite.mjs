// Tests by name, run one after the other; those that cannot run here are counted.
import assert from 'node:assert/strict';

export class Suite {
  passed = 0;
  skipped = 0;
  failed = 0;

  async test(name, body) {
    try {
      await body();
      ++this.passed;
      console.log(`ok       ${name}`);
    } catch (error) {
      ++this.failed;
      console.log(`FAILED   ${name}\n${error?.stack ?? error}`);
    }
  }

  skip(count, why) {
    this.skipped += count;
    console.log(`skipped  ${count} tests: ${why}`);
  }
}

export { assert };
