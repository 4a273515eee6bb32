/**
 * The flags of klog, the log library of Kubernetes. All programs of the kube-dns pod accept them, and every deployment sets some. The
 * verbosity takes effect. The rest concerns klog's log files and headers and has no effect.
 */
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import type { ValueReader } from '../values/value-reader.ts';
import type { Flag, FlagKinds } from './flag.ts';

export const KLOG_FLAGS: FlagKinds = new Map([
  ...[
    'v',
    'vmodule',
    'stderrthreshold',
    'log_dir',
    'log_file',
    'log_file_max_size',
    'log_backtrace_at',
    'log-flush-frequency',
  ].map((name) => [name, 'value'] as const),
  ...[
    'logtostderr',
    'alsologtostderr',
    'add_dir_header',
    'skip_headers',
    'skip_log_headers',
    'one_output',
    'legacy_stderr_threshold_behavior',
  ].map((name) => [name, 'switch'] as const),
]);

/** The lowest verbosity at which klog logs debugging details. */
const DEBUG_VERBOSITY = 4;
const VERBOSITY = { min: 0, max: 2 ** 31 - 1, of: 'a verbosity' };

/** The log level for `--v`: `debug` from 4 on. @param verbosity the value, if given */
export function readLogLevel(verbosity: string | undefined, read: ValueReader): LogLevel {
  return read.integer('--v', verbosity, VERBOSITY, 0) >= DEBUG_VERBOSITY ? 'debug' : 'info';
}

/** The flags shown in help; a command accepts the others as well. */
export const SHOWN_KLOG_FLAGS: readonly Flag[] = [
  {
    name: 'v',
    valueName: 'level',
    value: { kind: 'integer', ...VERBOSITY },
    help: 'from 4 on, log everything',
  },
  { name: 'logtostderr', value: 'none', help: 'accepted without effect, as the other flags of klog are' },
];

/** The row of `--help`. @param dashes as the program writes them, `-` or `--` */
export function helpRow(dashes: string): readonly [string, string] {
  return [`-h, ${dashes}help`, 'print this help'];
}
