/**
 * The walks of `explain` are those that glibc, musl and Go were seen to take.
 */
import { listReached, RESOLVER_LIBRARIES } from '@portolan/server/reasons/search-walk.ts';
import { describe, expect, it } from 'vitest';
import { readWalks } from './walk.ts';

describe.each(RESOLVER_LIBRARIES)('%s', (library) => {
  it.each(readWalks().map((walk) => [walk.name, walk.ndots, walk.outcomes.join(' '), walk] as const))(
    'walks for %s with ndots %i and %s as explain says',
    (_name, _ndots, _outcomes, { name, outcomes, asked, ...settings }) => {
      // As the server of the recorder answers: by the order of the questions.
      let questions = 0;
      const reached = listReached(name, settings, library, () => outcomes[questions++] ?? 'nxdomain');
      expect(reached).toEqual(asked[library]);
    },
  );
});
