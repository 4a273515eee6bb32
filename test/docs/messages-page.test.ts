/**
 * `docs/reference/messages.md` has every message of the log and of `/readyz`: `npm run docs` writes it. A new error or warning needs a line
 * in message-help.ts.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type LoggedMessage, listLoggedMessages } from './logged-messages.ts';
import { MESSAGE_HELP, READINESS_TEXTS } from './message-help.ts';

const HEAD = `# Messages

The messages of the log and of \`/readyz\`: what they mean, and what to do. \`…\` stands for what differs. Fields such as \`reason=\` follow a
message; \`portolan coredns\` writes them behind it, in the style of CoreDNS. Programs that Portolan replaces have some messages of their own;
those are kept word by word. Messages that come from a library, or that hold the text of another program, are not listed.

<!-- Made from the source and test/docs/message-help.ts by test/docs/messages-page.test.ts. -->
`;

const messages = listLoggedMessages();
const hasHelp = ({ level }: LoggedMessage): boolean => level === 'error' || level === 'warn';
const cell = (text: string): string => text.replaceAll('|', '\\|');
const formatCode = (text: string): string =>
  text.includes('`') ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``;

function formatTable(rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(([text, help]) => `| ${formatCode(text)} | ${cell(help)} |`);
  return ['| message | meaning, and what to do |', '|---|---|', ...lines].join('\n');
}

function helpFor(level: LoggedMessage['level']): string {
  const rows = messages
    .filter((message) => message.level === level)
    .map(({ text }) => [text, MESSAGE_HELP[text] ?? ''] as const);
  return formatTable(rows);
}

function formatList(level: LoggedMessage['level']): string {
  const texts = messages
    .filter((message) => message.level === level)
    .map(({ text }) => `- ${formatCode(text)}`);
  return texts.join('\n');
}

it('explains each error and warning, and no other', () => {
  const texts = new Set(messages.filter(hasHelp).map(({ text }) => text));
  expect(messages.length).toBeGreaterThan(150);
  expect([...texts].filter((text) => MESSAGE_HELP[text] === undefined)).toEqual([]);
  expect(Object.keys(MESSAGE_HELP).filter((text) => !texts.has(text))).toEqual([]);
});

it('has texts of /readyz that the source has', () => {
  for (const { text, from } of READINESS_TEXTS)
    expect(readFileSync(from[0], 'utf8').includes(from[1]), text).toBe(true);
});

it('writes the page', async () => {
  const sections = [
    ['Errors', helpFor('error')],
    ['Warnings', helpFor('warn')],
    ['/readyz', formatTable(READINESS_TEXTS.map(({ text, help }) => [text, help] as const))],
    ['Information', `Nothing is wrong.\n\n${formatList('info')}`],
    ['Debug', `With \`--log-level debug\` only.\n\n${formatList('debug')}`],
  ];
  const page = sections.map(([title, text]) => `\n## ${title}\n\n${text}\n`).join('');
  await expect(HEAD + page).toMatchFileSnapshot('../../docs/reference/messages.md');
});
