/**
 * Options of the process: foreground or background, user and group, pid file and log.
 */
import { readNumber, SECONDS } from './numbers.ts';
import { textOfOctets } from './octets.ts';
import { flag, type Option, type OptionUse, single } from './option.ts';

/** The syslog facilities that the C library knows by name. */
const FACILITIES = [
  'auth',
  'authpriv',
  'cron',
  'daemon',
  'ftp',
  'kern',
  'lpr',
  'mail',
  'mark',
  'news',
  'security',
  'syslog',
  'user',
  'uucp',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
];

const logOptions: readonly Option[] = [
  single(
    'log-facility',
    { short: '8', shows: '=<facility>|<path>|-', means: 'Where the log goes' },
    readFacility,
  ),
  {
    name: 'log-queries',
    short: 'q',
    takes: 'long',
    repeats: 'often',
    shows: '[=extra]',
    means: 'Log every question and its answers',
    standing: { kind: 'works', apply: readLogQueries },
  },
  {
    name: 'log-async',
    takes: 'optional',
    repeats: 'once',
    shows: '[=<lines>]',
    means: 'Log without waiting',
    standing: {
      kind: 'no-effect',
      why: 'answers never wait for the log in Portolan',
      check: (use) =>
        void (use.value !== undefined && readNumber(use, use.value, { ...SECONDS, of: 'a number of lines' })),
    },
  },
  flag('log-debug', { means: 'Log what helps to find faults' }, (draft) => {
    draft.log.debug = true;
  }),
];

export const processOptions: readonly Option[] = [
  flag('keep-in-foreground', { short: 'k', means: 'Stay in the foreground' }, ({ process }) => {
    if (process.mode === 'background') process.mode = 'foreground';
  }),
  flag('no-daemon', { short: 'd', means: 'Stay in the foreground, for debugging' }, (draft) => {
    draft.process.mode = 'debug';
  }),
  single(
    'user',
    { short: 'u', takes: 'optional', shows: '=<user>', means: 'Become this user' },
    (use, value) => {
      use.draft.process.user = value === '' ? undefined : textOfOctets(value);
    },
  ),
  single(
    'group',
    { short: 'g', takes: 'optional', shows: '=<group>', means: 'Become this group' },
    (use, value) => {
      use.draft.process.group =
        value === '' ? { kind: 'keep' } : { kind: 'named', name: textOfOctets(value) };
    },
  ),
  single(
    'pid-file',
    { short: 'x', takes: 'optional', shows: '=<path>', means: "Where the process's number is written" },
    (use, value) => {
      use.draft.process.pidFile = value === '' ? undefined : textOfOctets(value);
    },
  ),
  ...logOptions,
  flag('no-ident', { means: 'Do not answer version.bind and its siblings' }, (draft) => {
    draft.hosts.identifies = false;
  }),
];

function readFacility(use: OptionUse, value: string): void {
  const text = textOfOctets(value);
  const facility = FACILITIES.find((name) => name === value.toLowerCase());
  if (text === '-') use.draft.log.to = { kind: 'standard-error' };
  else if (text.includes('/')) use.draft.log.to = { kind: 'file', path: text };
  else if (facility !== undefined) use.draft.log.to = { kind: 'syslog', facility };
  else
    use.refuse(
      'neither a facility of syslog nor a path',
      'Give -, a path with a slash, or one such as daemon.',
    );
}

function readLogQueries(use: OptionUse): void {
  const extent = use.value ?? '';
  if (extent === 'extra') use.draft.log.queries = 'extra';
  else if (use.draft.log.queries === 'off') use.draft.log.queries = 'plain';
  if (extent !== '' && extent !== 'extra')
    use.note('Only `extra` has a meaning; questions are logged as without it.');
}
