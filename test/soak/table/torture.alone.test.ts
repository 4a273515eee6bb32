import { it } from 'vitest';
import { expectWholeAnswers } from '../../table/torture.ts';

it('readers see nothing torn, stale or missing in 200,000 changes', { timeout: 300_000 }, async () => {
  await expectWholeAnswers(200_000);
});
