/**
 * `docs/reference/messages.md` has every error and warning of the log, and every text of `/readyz`: `npm run docs` writes it. A new error
 * or warning needs a line in scripts/generate/docs/message-help.ts.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  MESSAGE_FAMILIES,
  type MessageFamily,
  READINESS_TEXTS,
} from '../../scripts/generate/docs/message-help.ts';
import { type LoggedMessage, listLoggedMessages } from './logged-messages.ts';

const HEAD = `# Messages

Errors and warnings of the log by their subjects, and the texts of \`/readyz\`, with what to do. \`…\` stands for what differs. Fields follow a
message: \`reason\` says why, often with a remedy. When new settings or files cannot be used, the former ones stay. Lines of the levels \`info\`
and \`debug\` need no action. Programs that Portolan replaces have some messages of their own, which are kept word by word. Messages of
libraries, and those that hold the text of another program, are not listed.

<!-- Made from the source and scripts/generate/docs/message-help.ts by test/docs/messages-page.test.ts. -->
`;

const messages = listLoggedMessages();
const hasHelp = ({ level }: LoggedMessage): boolean => level === 'error' || level === 'warn';
const formatCode = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

function formatList(rows: MessageFamily['help']): string {
  return rows.map(([texts, help]) => `- ${texts.map(formatCode).join(', ')}: ${help}`).join('\n');
}

it('explains each error and warning once, and no other', () => {
  const texts = new Set(messages.filter(hasHelp).map(({ text }) => text));
  const explained = MESSAGE_FAMILIES.flatMap(({ help }) => help.flatMap(([of]) => of));
  expect(messages.length).toBeGreaterThan(150);
  expect(explained.toSorted()).toEqual([...texts].toSorted());
});

it('has texts of /readyz that the source has', () => {
  for (const { text, from } of READINESS_TEXTS)
    expect(readFileSync(from[0], 'utf8').includes(from[1]), text).toBe(true);
});

it('writes the page', async () => {
  const families: readonly MessageFamily[] = [
    ...MESSAGE_FAMILIES,
    { title: '/readyz', help: READINESS_TEXTS.map(({ text, help }) => [[text], help]) },
  ];
  const page = families.map(({ title, help }) => `\n## ${title}\n\n${formatList(help)}\n`).join('');
  await expect(HEAD + page).toMatchFileSnapshot('../../docs/reference/messages.md');
});
