import { expect, it } from 'vitest';
import { describeFault } from './parser.ts';

it.each([
  [
    "error: unknown command 'chek'\n(Did you mean check?)\n",
    'portolan corefile: chek: unknown command. Did you mean check?\n',
  ],
  [
    "error: unknown option '--kubeconfg=x'\n(Did you mean --kubeconfig?)\n",
    'portolan corefile: --kubeconfg: unknown flag. Did you mean --kubeconfig?\n',
  ],
  [
    "error: unknown option '--a'\n(Did you mean one of --b, --c?)\n",
    'portolan corefile: --a: unknown flag. Did you mean --b?\n',
  ],
  [
    "error: unknown option '--quux'\n",
    "portolan corefile: --quux: unknown flag. See 'portolan corefile --help' for all flags.\n",
  ],
  [
    "error: missing required argument 'file'\n",
    "portolan corefile: missing required argument 'file'. See 'portolan corefile --help'.\n",
  ],
])('says %j like all other messages', (text, message) => {
  expect(describeFault('corefile', text)).toBe(message);
});
