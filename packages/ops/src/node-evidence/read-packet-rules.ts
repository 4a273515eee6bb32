/**
 * Reads the packet filter of a node: what may drop queries to its DNS cache, and whether they are tracked.
 */
import { isIP } from 'node:net';
import { findDrop, isUntracked } from '@portolan/frontends/node-cache/network/iptables-drops.ts';
import { findInstalled, hasTable } from '@portolan/frontends/node-cache/network/iptables-programs.ts';
import { findNftDrops, isUntrackedByNft } from '@portolan/frontends/node-cache/network/nft-drops.ts';
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import type { RulesEvidence } from '@portolan/server/reasons/node-evidence.ts';

export interface CacheAddresses {
  readonly addresses: readonly string[];
  readonly dnsPort: number;
}

/** What one program says. */
interface ReadRules {
  readonly drops: readonly string[];
  isUntracked(address: string): boolean;
}

/** @returns undefined if no program can read rules. Never rejects. */
export async function readPacketRules(
  cache: CacheAddresses,
  run: RunProgram,
): Promise<RulesEvidence | undefined> {
  const ofIptables = await readIptables(cache, run);
  const ofNft = await readNft(cache, run, ofIptables.length > 0);
  const all = [...ofIptables, ...(ofNft === undefined ? [] : [ofNft])];
  if (all.length === 0) return undefined;
  return {
    drops: [...new Set(all.flatMap(({ drops }) => drops))],
    tracked: cache.addresses.filter((address) => !all.some((each) => each.isUntracked(address))),
  };
}

/** Of each family and variant that can be read. */
async function readIptables({ addresses, dnsPort }: CacheAddresses, run: RunProgram): Promise<ReadRules[]> {
  const families = [...new Set(addresses.map((address) => (isIP(address) === 6 ? 6 : 4)))] as const;
  const installed = (await Promise.all(families.map((family) => findInstalled(family, run)))).flat();
  const read = await Promise.all(
    installed.map(async (programs) => {
      const save = async (table: string) =>
        (await hasTable(programs, table)) ? await run({ program: programs.save, words: ['-t', table] }) : '';
      try {
        const filter = await save('filter');
        const raw = await save('raw');
        const drop = findDrop(filter, { addresses, dnsPort }, { heedsAccepts: true });
        return {
          drops: drop === undefined ? [] : [drop],
          isUntracked: (address: string) => isUntracked(raw, address, dnsPort),
        };
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        return undefined;
      }
    }),
  );
  return read.filter((each) => each !== undefined);
}

async function readNft(
  cache: CacheAddresses,
  run: RunProgram,
  skipsIptables: boolean,
): Promise<ReadRules | undefined> {
  try {
    const text = await run({ program: 'nft', words: ['-j', 'list', 'ruleset'] });
    return {
      drops: findNftDrops(text, cache, { skipsIptables }),
      isUntracked: (address) => isUntrackedByNft(text, address, cache.dnsPort),
    };
  } catch (error) {
    if (!(error instanceof ProgramError || error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
