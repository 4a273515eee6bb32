/**
 * Options that name further files, and options that print and exit: `--test`, `--help`, `--version`.
 */
import { textOfOctets } from './octets.ts';
import type { Option } from './option.ts';
import { flag, single } from './option.ts';

const READING = { kind: 'reading' } as const;

export const fileOptions: readonly Option[] = [
  {
    name: 'conf-file',
    short: 'C',
    takes: 'optional',
    repeats: 'often',
    shows: '=<path>',
    means: 'Read options from this file; - is standard input (default /etc/dnsmasq.conf)',
    standing: READING,
  },
  {
    name: 'conf-dir',
    short: '7',
    takes: 'value',
    repeats: 'often',
    shows: '=<path>[,*<end>|,<end>...]',
    means: 'Read options from the files of this folder, those with or without these ends of names',
    standing: READING,
  },
  single(
    'servers-file',
    { shows: '=<path>', means: 'Read server and rev-server from this file, again at SIGHUP' },
    (use, value) => {
      use.draft.upstreams.serversFile = value === '' ? undefined : textOfOctets(value);
    },
  ),
  single(
    'blocks-extra',
    { shows: '=<path>', means: 'Take further plugins from this file, in the syntax of a Corefile' },
    (use, value) => {
      use.draft.process.blocksExtra = value === '' ? undefined : textOfOctets(value);
    },
  ),
  flag('stats', { means: 'Always count queries, for the command portolan top' }, (draft) => {
    draft.process.keepsStatistics = true;
  }),
  {
    name: 'test',
    takes: 'nothing',
    repeats: 'often',
    means: 'Check all options and exit',
    standing: READING,
  },
  {
    name: 'version',
    short: 'v',
    takes: 'nothing',
    repeats: 'often',
    means: 'Show the version',
    standing: READING,
  },
  {
    name: 'help',
    short: 'w',
    takes: 'nothing',
    repeats: 'often',
    means: 'Show this list',
    standing: READING,
  },
];
