/**
 * The flags of klog, the log library of Kubernetes: every program of the kube-dns pod takes them, and every deployment gives
 * some. The verbosity counts; the rest is about files and headers of a log that is not ours, and is taken as it comes.
 */
import type { LogLevel } from '../ground/log.ts';
import type { FlagKinds, GivenFlags } from './go-flags.ts';
import type { ValueReader } from './values.ts';

export const KLOG_FLAGS: FlagKinds = new Map([
  ...[
    ...['v', 'vmodule', 'stderrthreshold', 'log_dir', 'log_file', 'log_file_max_size', 'log_backtrace_at'],
    'log-flush-frequency',
  ].map((name) => [name, 'value'] as const),
  ...[
    ...['logtostderr', 'alsologtostderr', 'add_dir_header', 'skip_headers', 'skip_log_headers'],
    ...['one_output', 'legacy_stderr_threshold_behavior'],
  ].map((name) => [name, 'switch'] as const),
]);

/** From here on klog tells what only those who look for a fault want to know. */
const DEBUG_VERBOSITY = 4;
const VERBOSITY = { least: 0, most: 2 ** 31 - 1, of: 'a verbosity' };

/** What to log: all from `--v=4` on, else what matters. */
export function readLogLevel(given: GivenFlags, read: ValueReader): LogLevel {
  return read.integer('--v', given.last('v'), VERBOSITY, 0) >= DEBUG_VERBOSITY ? 'debug' : 'info';
}
