/**
 * The parts of a template.
 */

/** Position of a part in the text: offsets in characters. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type Operand = Span &
  (
    | { readonly kind: 'dot' | 'nil' }
    | { readonly kind: 'value'; readonly value: string | number | boolean }
    /** `.A.B` */
    | { readonly kind: 'field'; readonly path: readonly string[] }
    /** `$x.A`; the name with its dollar sign. */
    | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[] }
    | { readonly kind: 'function'; readonly name: string }
    /** `(…).A` */
    | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly path: readonly string[] }
  );

export interface Command extends Span {
  /** At least one. */
  readonly operands: readonly Operand[];
}

export interface Pipeline extends Span {
  /** Variables that get the result; in a range, two of them: the index and the element. */
  readonly variables: readonly string[];
  /** The variables exist already. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'action'; readonly pipeline: Pipeline } & Span)
  | ({
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly nodes: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    } & Span)
  | ({ readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined } & Span)
  | { readonly kind: 'break' | 'continue' };

export interface ParsedTemplate {
  readonly nodes: readonly TemplateNode[];
  /** By name: `define` and `block`. */
  readonly definitions: ReadonlyMap<string, readonly TemplateNode[]>;
}
