/**
 * The flags of `portolan corefile explain`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { PLUGIN_FLAG } from './compat-flags.ts';

export const EXPLAIN_FLAGS = [
  {
    name: 'conf',
    valueName: 'path',
    value: { kind: 'file' },
    default: 'Corefile',
    help: 'Corefile to explain; - is standard input',
  },
  {
    name: 'client',
    valueName: 'address',
    value: { kind: 'text', of: 'an address' },
    default: '127.0.0.1',
    help: 'address of the client that asks, for views',
  },
  PLUGIN_FLAG,
] as const satisfies readonly Flag[];

export type CorefileExplainFlags = FlagsOf<typeof EXPLAIN_FLAGS>;
