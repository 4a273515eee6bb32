/**
 * The flags of `portolan control`.
 */
import type { Flag } from '../flags/flag.ts';

export const CONTROL_FLAGS = [
  {
    name: 'socket',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'control socket of the server, its --control-socket',
  },
] as const satisfies readonly Flag[];

/** The flags as given on the command line, not validated yet. */
export interface ControlFlags {
  readonly socket?: string;
}
