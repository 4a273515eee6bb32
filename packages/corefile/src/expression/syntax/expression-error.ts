/**
 * A text is no expression. The message is that of expr-lang: the fault, its line and column, the line, and a mark below it.
 */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  /** @param at offset into the text, in code points */
  constructor(fault: string, text: string, at: number) {
    super(fault + describePlace(text, at));
  }
}

/** Empty for a line without characters. */
function describePlace(text: string, at: number): string {
  const before = [...text].slice(0, at).join('');
  const lines = before.split('\n');
  const column = [...(lines.at(-1) ?? '')].length;
  const line = text.split('\n')[lines.length - 1] ?? '';
  if (line === '') return '';
  return ` (${lines.length}:${column + 1})\n | ${line.replaceAll('\t', ' ')}\n | ${'.'.repeat(column)}^`;
}
