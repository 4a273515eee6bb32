/**
 * Loads the Corefile named on the command line of CoreDNS.
 */
import { readFileSync } from 'node:fs';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';

export interface CorefileText {
  /** The path for messages. */
  readonly file: string;
  readonly text: string;
}

/** A Corefile cannot be read, or the file of `-blocks-extra`. */
export class CorefileLoadError extends Error {
  override readonly name = 'CorefileLoadError';
  /** `open /etc/coredns/Corefile: permission denied`. */
  readonly reason: string;

  constructor(how: 'flag' | 'default' | '-blocks-extra', reason: string) {
    super(
      how === '-blocks-extra'
        ? `${how}: ${reason}\n  Give a file that exists and is readable.`
        : `loading Caddyfile via ${how}: ${reason}`,
    );
    this.reason = reason;
  }
}

/** The default file. */
const DEFAULT_FILE = 'Corefile';

/**
 * @param conf a path or `stdin`; undefined: an optional `Corefile` in the working directory
 * @throws CorefileLoadError
 */
export function loadCorefile(conf: string | undefined): CorefileText {
  if (conf === 'stdin') return { file: 'stdin', text: readFileSync(0, 'utf8') };
  const file = conf ?? DEFAULT_FILE;
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    const reason = describeSystemError(error);
    if (conf === undefined && reason === 'no such file or directory') return { file, text: '' };
    throw new CorefileLoadError(conf === undefined ? 'default' : 'flag', `open ${file}: ${reason}`);
  }
}

/** The file of `-blocks-extra`. @throws CorefileLoadError */
export function loadExtra(file: string): CorefileText {
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new CorefileLoadError('-blocks-extra', `open ${file}: ${describeSystemError(error)}`);
  }
}
