/**
 * Text with actions in double braces: the language of Go's package text/template.
 *
 * It has fields, variables, pipelines, `if`, `with`, `range`, `define`, `block`, `template`, `break`, `continue`, trimming, and
 * the predefined functions. It lacks user types, channels and functions as values.
 */
import { executeTemplate, TemplateExecutionError } from './execute.ts';
import type { ParsedTemplate, Span } from './nodes.ts';
import { parseTemplate } from './parse.ts';
import { TemplateSyntaxError } from './tokens.ts';
import type { TemplateValue } from './values.ts';

/** A template that does not parse, or cannot be filled. The message is Go's: `template: answer:1: unclosed action`. */
export class TextTemplateError extends Error {
  override readonly name = 'TextTemplateError';
}

/** Maximum characters of a part in a message. */
const MAX_SHOWN = 20;

export class TextTemplate {
  /** Its use, for messages: `answer`. */
  readonly use: string;
  readonly source: string;
  readonly #parsed: ParsedTemplate;

  /** @throws TextTemplateError */
  constructor(use: string, source: string) {
    this.use = use;
    this.source = source;
    try {
      this.#parsed = parseTemplate(source);
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      throw new TextTemplateError(`template: ${use}:${this.#toLineNumber(error.at)}: ${error.message}`);
    }
  }

  /** @throws TextTemplateError */
  fill(data: TemplateValue): string {
    try {
      return executeTemplate(this.#parsed, data);
    } catch (error) {
      if (!(error instanceof TemplateExecutionError)) throw error;
      throw new TextTemplateError(this.#describe(error.message, error.span));
    }
  }

  #describe(what: string, { start, end }: Span): string {
    const lineStart = this.source.lastIndexOf('\n', start - 1) + 1;
    const column = Buffer.byteLength(this.source.slice(lineStart, start)) + (lineStart === 0 ? 0 : 1);
    const part = this.source.slice(start, end);
    const shown = part.length > MAX_SHOWN ? `${part.slice(0, MAX_SHOWN)}...` : part;
    return `template: ${this.use}:${this.#toLineNumber(start)}:${column}: executing ${JSON.stringify(this.use)} at <${shown}>: ${what}`;
  }

  #toLineNumber(at: number): number {
    return this.source.slice(0, at).split('\n').length;
  }
}
