/**
 * What is found while a Corefile is read: all that is wrong with it, and what it does that its author may not expect.
 */
import { describePosition, type Position } from './token.ts';

/**
 * The phases in which CoreDNS reads a Corefile: words, blocks and imports; the names of directives; what keys and directives say.
 * `reload` watches the outcome of the first phase, so a later fault is a failed reload there.
 */
export type CorefilePhase = 'tokens' | 'directives' | 'set-up';

export interface CorefileProblem {
  readonly phase: CorefilePhase;
  /** The line CoreDNS would print, word for word where people search for it. */
  readonly message: string;
  readonly position: Position;
  /** What to do about it: a whole sentence. */
  readonly remedy: string;
}

export interface CorefileWarning {
  /** What CoreDNS itself logs here, word for word; nothing where it keeps silent. */
  readonly message: string | undefined;
  /** What happens, and what to do: whole sentences. */
  readonly text: string;
  readonly position: Position;
}

export class CorefileFindings {
  readonly problems: CorefileProblem[] = [];
  readonly warnings: CorefileWarning[] = [];

  /** What CoreDNS says of a file that does not parse. */
  refuse(position: Position, fault: string, remedy: string): void {
    this.problems.push({ phase: 'tokens', message: parseError(position, fault), position, remedy });
  }

  refuseName(position: Position, name: string, remedy: string): void {
    const message = parseError(position, `Unknown directive '${name}'`);
    this.problems.push({ phase: 'directives', message, position, remedy });
  }

  refuseSyntax(position: Position, found: string, expected: string, remedy: string): void {
    const message = syntaxError(position, found, expected);
    this.problems.push({ phase: 'tokens', message, position, remedy });
  }

  warn(position: Position, text: string, message?: string): void {
    const place = describePosition(position);
    const isKnown = this.warnings.some(
      (known) => known.text === text && describePosition(known.position) === place,
    );
    if (!isKnown) this.warnings.push({ message, text, position });
  }
}

export function parseError(position: Position, fault: string): string {
  return `${describePosition(position)} - Error during parsing: ${fault}`;
}

export function syntaxError(position: Position, found: string, expected: string): string {
  return `${describePosition(position)} - Syntax error: Unexpected token '${found}', expecting '${expected}'`;
}

/** Two lines: CoreDNS's own, then the place and what to do. */
export function describeCorefileProblem({ message, position, remedy }: CorefileProblem): string {
  return `${message}\n  ${describePosition(position)}: ${remedy}${importTrail(position)}`;
}

export function describeCorefileWarning({ message, text, position }: CorefileWarning): string {
  const words = message === undefined ? text : `${message}. ${text}`;
  return `${describePosition(position)}: ${words}${importTrail(position)}`;
}

/** A chain of imports may be long; its ends say enough. */
const MAX_TRAIL = 3;

function importTrail(position: Position): string {
  const trail: string[] = [];
  for (let step = position.imported; step !== undefined; step = step.at.imported)
    trail.push(describePosition(step.at));
  if (trail.length === 0) return '';
  const shown =
    trail.length <= MAX_TRAIL ? trail : [...trail.slice(0, MAX_TRAIL - 1), '…', trail.at(-1) ?? ''];
  return ` (imported at ${shown.join(', ')})`;
}
