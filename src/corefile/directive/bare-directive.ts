/**
 * Directives without settings: `any`, `debug`, `minimal`, `whoami`.
 */
import type { DirectiveCursor } from './directive-cursor.ts';

const REMEDY = 'Take the word out: this plugin has no settings.';

/** Reads one use of the directive. @throws DirectiveError for an argument */
export function readBareUse(cursor: DirectiveCursor): void {
  if (cursor.argument() !== undefined) throw cursor.argumentError(REMEDY);
}
