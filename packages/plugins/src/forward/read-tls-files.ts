/**
 * The files of a line `tls [CERTIFICATE KEY] [AUTHORITIES]`, by which servers are asked.
 */
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import type { ForwardTls } from './options.ts';

/** @throws DirectiveError if a file is missing */
export function readTlsFiles(
  cursor: DirectiveCursor,
  context: DirectiveContext,
): Omit<ForwardTls, 'serverName'> {
  const paths = cursor.remainingBetween(0, 3).map((path) => context.resolve(path));
  const [certificate, key] = paths.length >= 2 ? paths : [];
  const authorities = paths.length === 1 ? paths[0] : paths[2];
  for (const path of [certificate, key])
    if (path !== undefined && context.files.findKind(path) !== 'file')
      throw cursor.bareError(
        `could not load TLS cert: open ${path}: no such file or directory`,
        'Name files that this process can read.',
      );
  if (authorities !== undefined && context.files.findKind(authorities) !== 'file')
    throw cursor.bareError(
      `error reading ${authorities}: open ${authorities}: no such file or directory`,
      'Name a file that this process can read.',
    );
  return { certificate, key, authorities };
}
