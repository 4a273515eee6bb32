/**
 * The shapes of serve's flags, as `portolan kube-dns` hands them to its reader.
 */
import { SERVE_OPTIONS } from '../../src/cli/serve-options.ts';
import type { ServeFlagShape } from '../../src/config/kube-dns/kube-dns-flags.ts';

export const SERVE_SHAPES: readonly ServeFlagShape[] = SERVE_OPTIONS.map((option) => ({
  name: option.long?.slice(2) ?? '',
  key: option.attributeName(),
  takes: option.parseArg !== undefined ? 'values' : option.required ? 'value' : 'switch',
}));
