/**
 * Answers made from templates.
 */
import type { Expression } from '@portolan/corefile/expression/expression.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Pattern } from '@portolan/kernel/base/pattern.ts';
import type { TextTemplate } from './text-template/text-template.ts';

export interface TemplateOptions {
  /** Tried in order. */
  readonly templates: readonly TemplateRule[];
}

export interface TemplateRule {
  /** The number of a class; 255: every class. */
  readonly class: number;
  /** The number of a type; 255: every type. */
  readonly type: number;
  readonly zones: readonly NameKey[];
  /** The first that matches a name counts; empty: every name matches. */
  readonly patterns: readonly Pattern[];
  /** Computed in order, each from those before it. */
  readonly variables: readonly TemplateVariable[];
  /** All must be true for a name that matches. */
  readonly conditions: readonly Expression[];
  readonly answer: readonly TextTemplate[];
  readonly additional: readonly TextTemplate[];
  readonly authority: readonly TextTemplate[];
  readonly rcode: number;
  readonly extendedError: { readonly code: number; readonly text: string } | undefined;
  /** Zones in which names that match no pattern, or do not meet a condition, go to the next handler. Elsewhere they are SERVFAIL. */
  readonly fallthrough: readonly NameKey[];
}

export interface TemplateVariable {
  readonly name: string;
  readonly expression: Expression;
}
