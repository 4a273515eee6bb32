/**
 * The variants of iptables that a node may have: nftables and legacy. kube-proxy uses one of them.
 */
import { readFile } from 'node:fs/promises';
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';

export type IpVersion = 4 | 6;

/** Of an IP address as text. */
export const toIpVersion = (address: string): IpVersion => (address.includes(':') ? 6 : 4);

/** The programs of one variant and family. */
export interface IptablesPrograms {
  /** For instance `iptables`, `ip6tables-legacy`. */
  readonly program: string;
  readonly save: string;
  readonly restore: string;
  readonly family: IpVersion;
  /** File with the existing tables of the legacy variant: reading another table creates it. Undefined if reading creates none. */
  readonly tablesFile?: string;
}

/** The programs of the variant that has kube-proxy's rules: packets never pass the rules of the other variant first. */
export async function chooseIptables(
  family: IpVersion,
  installed: readonly IptablesPrograms[],
  run: RunProgram,
): Promise<IptablesPrograms> {
  const counts = await Promise.all(
    installed.map(async ({ save }) => {
      try {
        return (await run({ program: save, words: [] })).split('\n').filter((line) => line.includes('KUBE-'))
          .length;
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        return -1;
      }
    }),
  );
  const best = counts.indexOf(Math.max(...counts));
  const chosen = installed[best];
  if (chosen === undefined || counts.every((count) => count < 0))
    throw new ProgramError(`${toProgramName(family)}: not installed`);
  return chosen;
}

/** The installed variants, each once: under the generic name if the system links it to the variant, else under its own name. */
export async function findInstalled(
  family: IpVersion,
  run: RunProgram,
): Promise<readonly IptablesPrograms[]> {
  const name = toProgramName(family);
  const found = await Promise.all(
    [name, `${name}-nft`, `${name}-legacy`].map((program) => findPrograms(program, family, run)),
  );
  const installed = found.filter((programs) => programs !== undefined);
  const isFirst = ({ tablesFile }: IptablesPrograms, index: number) =>
    installed.findIndex((other) => other.tablesFile === tablesFile) === index;
  return installed.filter(isFirst);
}

/** Whether the variant has the table. Reading a missing table would create it in the legacy variant. */
export async function hasTable({ tablesFile }: IptablesPrograms, table: string): Promise<boolean> {
  if (tablesFile === undefined) return true;
  const text = await readFile(tablesFile, 'utf8').catch(() => '');
  return text.split('\n').includes(table);
}

async function findPrograms(
  program: string,
  family: IpVersion,
  run: RunProgram,
): Promise<IptablesPrograms | undefined> {
  try {
    const version = await run({ program, words: ['--version'] });
    const programs = { program, save: `${program}-save`, restore: `${program}-restore`, family };
    // Versions before 1.8 are legacy, and do not print the variant.
    if (version.includes('nf_tables')) return programs;
    const tablesFile = family === 4 ? '/proc/net/ip_tables_names' : '/proc/net/ip6_tables_names';
    return { ...programs, tablesFile };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return undefined;
  }
}

const toProgramName = (family: IpVersion): string => (family === 4 ? 'iptables' : 'ip6tables');
