/**
 * The flags of what a server remembers of failures and changes, for every role.
 */
import { HISTORY_NAMES } from '../../plan/history-plan.ts';
import type { Flag } from '../flags/flag.ts';

const HISTORY = 'History';

export const HISTORY_FLAGS = [
  {
    name: 'history-size',
    valueName: 'octets',
    value: { kind: 'text', of: 'a size' },
    defaultNote: '16M',
    help: 'memory at most for failures and changes that explain --at tells of; 0: none are kept',
    details: 'See [What is kept](history.md).',
    group: HISTORY,
  },
  {
    name: 'history-file',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'a restart forgets them',
    help: 'file that keeps them over a restart, of --history-size at most together with FILE.1',
    group: HISTORY,
  },
  {
    name: 'history-names',
    valueName: 'how',
    value: { kind: 'choice', choices: HISTORY_NAMES },
    defaultNote: 'plain',
    help: 'how names of questions and addresses of clients are kept',
    group: HISTORY,
  },
] as const satisfies readonly Flag[];
