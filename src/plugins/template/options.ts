/**
 * Answers made from templates.
 */
import type { Pattern } from '../../base/pattern.ts';
import type { NameKey } from '../../wire/types.ts';
import type { TextTemplate } from './text-template/text-template.ts';

export interface TemplateOptions {
  /** Tried in order. */
  readonly templates: readonly TemplateRule[];
}

export interface TemplateRule {
  /** The number of a class; 255 is every class. */
  readonly class: number;
  /** The number of a type; 255 is every type. */
  readonly type: number;
  readonly zones: readonly NameKey[];
  /** The first that fits a name counts; none given: every name fits. */
  readonly patterns: readonly Pattern[];
  readonly answer: readonly TextTemplate[];
  readonly additional: readonly TextTemplate[];
  readonly authority: readonly TextTemplate[];
  readonly rcode: number;
  readonly extendedError: { readonly code: number; readonly text: string } | undefined;
  /** Zones in which names that fit no pattern go to the next handler, empty: in none, and they are answered SERVFAIL. */
  readonly fallthrough: readonly NameKey[];
}
