/**
 * Readers and the handler chain read a hostile query alike: whatever its octets, both give the same response.
 */
import { describe, expect, it } from 'vitest';
import { seed } from '../support/seed.ts';
import { soakLength } from '../support/soak-length.ts';
import { compare } from './comparison.ts';
import { SUBJECTS } from './subjects.ts';

const PACKETS = soakLength(20_000, 1000);

describe.each([...SUBJECTS])('%s', (_, makeSubject) => {
  it.each(['udp', 'tcp'] as const)(
    'reader and chain give the same response over %s',
    async (transport) => {
      const subject = await makeSubject();
      const { answered, differences } = await compare({ ...subject, transport }, seed, PACKETS);
      expect(differences.slice(0, 20), `with seed ${seed}: ${differences.length} of ${PACKETS}`).toEqual([]);
      expect(answered).toBeGreaterThan(PACKETS / 5);
    },
    1_200_000,
  );
});
