import { it } from 'vitest';
import { expectWholeAnswers } from './torture.ts';

it('readers see nothing torn, stale or missing in 10,000 changes', { timeout: 60_000 }, async () => {
  await expectWholeAnswers(10_000);
});
