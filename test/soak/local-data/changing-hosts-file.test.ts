import { expect, it } from 'vitest';
import { changeUnderLoad } from '../../local-data/changing-hosts-file.ts';

it('100 changes of a hosts file are each seen within a second, and no query is lost', {
  timeout: 120_000,
}, async () => {
  expect(await changeUnderLoad(100)).toBeLessThan(1000);
});
