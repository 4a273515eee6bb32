/**
 * The picture of the README shows what the commands print now: `npm run docs` draws it.
 */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('shows the output of the commands', async () => {
  const picture = execFileSync(process.execPath, ['scripts/draw-terminal.mjs'], { encoding: 'utf8' });
  expect(picture).toContain('Did you mean forward?');
  await expect(picture).toMatchFileSnapshot('../../docs/pictures/terminal.svg');
});
