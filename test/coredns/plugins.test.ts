/**
 * `-plugins`: lists exactly the plugins that a Corefile may use, in every command that has the flag.
 */
import { ORDER_PROFILES } from '@portolan/corefile/coredns-version.ts';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** The names that no version of CoreDNS has are refused as unknown; the others where they are not built. */
const REFUSALS = /^plugin\/\w+: not built into Portolan$|Unknown directive/;
const NAMES = [...new Set([...ORDER_PROFILES.flatMap((profile) => pluginOrder(profile)), 'unheardof'])];

/** Its arguments may be missing: that is another fault. */
function isAccepted(name: string, profile: (typeof ORDER_PROFILES)[number]): boolean {
  const reading = readCorefile(`.:53 {\n  ${name}\n}\n`, {
    file: 'Corefile',
    profile,
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  return reading.kind === 'good' || !reading.problems.some(({ message }) => REFUSALS.test(message));
}

describe.each(['coredns', 'node-cache'])('%s -plugins', (command) => {
  it('lists the plugins that a Corefile may name, and no others', async () => {
    const program = runPortolan([command, '-plugins']);
    expect((await program.exit).code).toBe(0);
    const listed = program.output.split('\n');
    // As CoreDNS ends the list.
    expect(listed.splice(-2)).toEqual(['', '']);
    for (const profile of ORDER_PROFILES) {
      const known = listed.filter((name) => pluginOrder(profile).includes(name));
      expect(NAMES.filter((name) => isAccepted(name, profile)).toSorted()).toEqual(known);
    }
    expect(listed).toContain('kubernetes');
  });
});
