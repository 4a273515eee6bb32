import { it } from 'vitest';
import { changeUnderLoad } from '../../local-data/changing-hosts-file.ts';

it('100 changes of a hosts file are each seen, and no query is lost', {
  timeout: 300_000,
}, async () => {
  await changeUnderLoad(100);
});
