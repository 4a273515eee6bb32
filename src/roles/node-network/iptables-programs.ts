/**
 * The variants of iptables that a node may have: that of nftables and the legacy one, of which kube-proxy uses one.
 */
import { ProgramError, type RunProgram } from './run-program.ts';

/** The programs of one variant and family. */
export interface IptablesPrograms {
  /** For instance `iptables`, `ip6tables-legacy`. */
  readonly program: string;
  readonly save: string;
  readonly restore: string;
  /** Lists the tables of the legacy variant; to read another one makes it. Undefined: no table is made by reading. */
  readonly tablesFile?: string;
}

/** The programs of the variant that has the rules of kube-proxy: of two, those of the other one are never looked at by packets first. */
export async function chooseIptables(family: 4 | 6, run: RunProgram): Promise<IptablesPrograms> {
  const variants = variantsOf(family);
  const counts = await Promise.all(
    variants.map(async ({ save }) => {
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
  const chosen = variants[best];
  if (chosen === undefined || counts.every((count) => count < 0))
    throw new ProgramError(`${nameOf(family)}: not installed`);
  return chosen;
}

/** Of both variants, whether installed or not; first those that the system has linked to one of them. */
export function variantsOf(family: 4 | 6): readonly IptablesPrograms[] {
  const name = nameOf(family);
  const tablesFile = family === 4 ? '/proc/net/ip_tables_names' : '/proc/net/ip6_tables_names';
  return [programsOf(name), programsOf(`${name}-nft`), { ...programsOf(`${name}-legacy`), tablesFile }];
}

const nameOf = (family: 4 | 6): string => (family === 4 ? 'iptables' : 'ip6tables');

function programsOf(program: string): IptablesPrograms {
  return { program, save: `${program}-save`, restore: `${program}-restore` };
}
