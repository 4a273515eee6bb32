/**
 * Options for upstream servers and how to query them.
 */
import { PORT, readNumber, SECONDS } from './numbers.ts';
import { textOfOctets } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable, single } from './option.ts';
import { cut } from './pieces.ts';

const resolvOptions: readonly Option[] = [
  repeatable(
    'resolv-file',
    {
      short: 'r',
      takes: 'optional',
      shows: '=<path>',
      means: 'Read addresses of upstream servers from this file',
    },
    addResolvFile,
  ),
  flag('no-resolv', { short: 'R', means: 'Read no resolv.conf' }, (draft) => {
    draft.resolv.ignored = true;
  }),
  flag('no-poll', { short: 'n', means: 'Do not follow changes of resolv.conf' }, (draft) => {
    draft.upstreams.followsResolvFiles = false;
  }),
];

const choiceOptions: readonly Option[] = [
  flag('strict-order', { short: 'o', means: 'Ask upstream servers in the order given' }, (draft) => {
    draft.choice.inOrder = true;
  }),
  flag('all-servers', { means: 'Ask all upstream servers and take the first answer' }, (draft) => {
    draft.choice.all = true;
  }),
  flag('dns-loop-detect', { means: 'Leave out upstream servers that ask us back' }, (draft) => {
    draft.upstreams.detectsLoops = true;
  }),
  flag('domain-needed', { short: 'D', means: 'Keep A and AAAA questions for plain names here' }, (draft) => {
    draft.upstreams.keepsPlainNames = true;
  }),
  flag('bogus-priv', { short: 'b', means: 'Keep reverse questions for private addresses here' }, (draft) => {
    draft.upstreams.keepsPrivateReverse = true;
  }),
];

const portOptions: readonly Option[] = [
  single('query-port', { short: 'Q', shows: '=<port>', means: 'Ask from this port only' }, (use, value) => {
    use.draft.ports.query = readNumber(use, value, PORT) ?? use.draft.ports.query;
  }),
  single('min-port', { shows: '=<port>', means: 'Ask from no port below this one' }, (use, value) => {
    use.draft.ports.min = readNumber(use, value, PORT) ?? use.draft.ports.min;
  }),
  single('max-port', { shows: '=<port>', means: 'Ask from no port above this one' }, (use, value) => {
    use.draft.ports.max = readNumber(use, value, PORT) ?? use.draft.ports.max;
  }),
  single(
    'port-limit',
    { shows: '=<ports>', means: 'Source ports for the tries of one question' },
    (use, value) => {
      const limit = readNumber(use, value, { min: 1, max: PORT.max, of: 'a number of ports' });
      use.draft.upstreams.portLimit = limit ?? use.draft.upstreams.portLimit;
    },
  ),
  single(
    'dns-forward-max',
    { short: '0', shows: '=<questions>', means: 'Questions that may wait for upstream servers at once' },
    (use, value) => {
      const max = readNumber(use, value, { ...SECONDS, of: 'a number of questions' });
      use.draft.upstreams.forwardMax = max ?? use.draft.upstreams.forwardMax;
    },
  ),
];

export const upstreamOptions: readonly Option[] = [
  ...resolvOptions,
  ...choiceOptions,
  ...portOptions,
  {
    name: 'fast-dns-retry',
    takes: 'optional',
    repeats: 'once',
    shows: '=<milliseconds>[,<milliseconds>]',
    means: 'Ask again after the first time, and give up after the second',
    standing: { kind: 'works', apply: readRetry },
  },
];

/** The first file replaces `/etc/resolv.conf`; an empty path removes that default. */
function addResolvFile({ draft: { resolv } }: OptionUse, value: string): void {
  const path = textOfOctets(value);
  if (resolv.default) resolv.files.splice(0);
  resolv.default = false;
  if (path !== '') resolv.files.push(path);
}

function readRetry(use: OptionUse): void {
  const [first, second] = use.value === undefined ? ['1000', undefined] : cut(use.value, ',');
  const milliseconds = { ...SECONDS, of: 'a number of milliseconds' };
  const after = readNumber(use, first, { ...milliseconds, min: 50 });
  const until = readNumber(use, second ?? '10000', milliseconds);
  if (after !== undefined && until !== undefined) use.draft.upstreams.retry = { after, until };
}
