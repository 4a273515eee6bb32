/**
 * The scenario files beside this one, each a test.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameOfScenario, runScenario } from './scenario.ts';

const FOLDER = new URL('scenarios', import.meta.url).pathname;
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.txt'));

describe('the cache in virtual time', () => {
  it('has scenarios', () => expect(files.length).toBeGreaterThan(10));

  for (const file of files) {
    const path = join(FOLDER, file);
    it(`${file}: ${nameOfScenario(path)}`, () => runScenario(path));
  }
});
