/**
 * Formats flags for `--help`, and in Markdown for the reference page.
 */
import { type Flag, findDefault, formatFlag, listChoices } from './flag.ts';

const MIN_GAP = 2;
const LINE = 118;

/** Formats rows of two columns for `--help`; the second column wraps. */
export function formatRows(rows: readonly (readonly [form: string, meaning: string])[]): string {
  const column = Math.max(...rows.map(([form]) => form.length)) + MIN_GAP;
  return rows
    .map(([form, meaning]) => {
      const lines = wrapWords(meaning.split(' '), LINE - column - MIN_GAP);
      return `  ${form.padEnd(column)}${lines.join(`\n${' '.repeat(column + MIN_GAP)}`)}\n`;
    })
    .join('');
}

/** The row of a flag for `formatRows`. @param dashes as the program writes them, `-` or `--` */
export function formatFlagRow(flag: Flag, dashes = '--'): readonly [string, string] {
  const choices = listChoices(flag);
  const fallback = findDefault(flag);
  const listed = choices.length === 0 ? '' : `: ${choices.join(', ')}`;
  return [
    formatFlag(flag, dashes),
    `${flag.help}${listed}${fallback === undefined ? '' : ` (default: ${fallback})`}`,
  ];
}

/** Wraps words into lines of at most `width` characters; a longer word gets its own line. */
export function wrapWords(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** The item of a flag in a Markdown list: the flag, its meaning, its default. `…` behind a value: the flag may be given several times. */
export function formatFlagItem(flag: Flag, dashes = '--'): string {
  const { help, details, value } = flag;
  const repeats = value !== 'none' && flag.repeats === true ? '…' : '';
  const choices = listChoices(flag);
  const listed = choices.length === 0 || details !== undefined ? '' : `: ${listCodes(choices)}`;
  const sentences = [`${capitalise(help)}${listed}.`, details, describeDefault(flag)];
  const meaning = sentences.filter((sentence) => sentence !== undefined).join(' ');
  return `- \`${formatFlag(flag, dashes)}${repeats}\`: ${meaning}`;
}

/** Undefined for switches, which are off, and for values that are absent by default. */
function describeDefault(flag: Flag): string | undefined {
  if (flag.value === 'none' || flag.defaultNote === 'none') return undefined;
  const fallback = flag.defaultNote ?? (flag.default === undefined ? undefined : `\`${flag.default}\``);
  return fallback === undefined ? undefined : `Default: ${fallback}.`;
}

function listCodes(words: readonly string[]): string {
  const codes = words.map((word) => `\`${word}\``);
  return `${codes.slice(0, -1).join(', ')} or ${codes.at(-1) ?? ''}`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
