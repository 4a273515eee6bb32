/**
 * The house rules that a machine can check: walls between rooms, sizes, and what a module opens with.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Each room stands only on rooms before it. */
const ROOMS = [
  ...['ground', 'wire', 'socket', 'table', 'zone', 'kube', 'sources', 'forward', 'chain', 'handlers'],
  ...['listen', 'config', 'observe', 'server', 'roles', 'cli'],
];
/** Walls beyond the order: who may not know whom. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['table', 'socket'],
  ['zone', 'socket'],
  ['kube', 'socket'],
  ['sources', 'socket'],
  ['listen', 'kube'],
  ['listen', 'zone'],
  ['listen', 'sources'],
];

interface Module {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly string[];
}

function readModules(): Module[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => {
      const text = readFileSync(join('src', path), 'utf8');
      const imports = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '');
      return { path, room: path.split('/')[0] ?? '', text, lines: text.split('\n').length - 1, imports };
    });
}

const modules = readModules();
const roomOf = (module: Module, target: string): string =>
  relative('src', relative(process.cwd(), resolve('src', module.path, '..', target))).split('/')[0] ?? '';

describe('the house', () => {
  it('has modules, all of them in a known room', () => {
    expect(modules.length).toBeGreaterThan(50);
    expect(modules.filter((module) => !ROOMS.includes(module.room)).map((module) => module.path)).toEqual([]);
  });

  it('lets a room stand only on rooms above it', () => {
    const breaches = modules.flatMap((module) =>
      module.imports
        .filter((target) => target.startsWith('.'))
        .map((target) => roomOf(module, target))
        .filter(
          (room) =>
            ROOMS.indexOf(room) > ROOMS.indexOf(module.room) ||
            FORBIDDEN.some(([from, to]) => from === module.room && to === room),
        )
        .map((room) => `${module.path} -> ${room}`),
    );
    expect(breaches).toEqual([]);
  });

  it('lets only socket/ touch koffi, and only table/ lay hands on its layout', () => {
    const users = modules.filter((module) => module.imports.includes('koffi')).map((module) => module.room);
    expect([...new Set(users)]).toEqual(['socket']);
    const intruders = modules.filter(
      (module) =>
        module.room !== 'table' && module.imports.some((target) => target.endsWith('table/layout.ts')),
    );
    expect(intruders.map((module) => module.path)).toEqual([]);
  });

  it('keeps files under 400 lines, the median under 100', () => {
    expect(
      modules.filter((module) => module.lines > 400).map((module) => `${module.path}: ${module.lines}`),
    ).toEqual([]);
    const sorted = modules.map((module) => module.lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(100);
  });

  it('opens every module with what it is for', () => {
    expect(
      modules.filter((module) => !/^(#!.*\n)?\/\*\*\n \* \S/.test(module.text)).map((module) => module.path),
    ).toEqual([]);
  });

  it('has no room for what has no name, and no promises in the code', () => {
    expect(
      modules.filter((module) => /utils?|helpers?|misc/.test(module.path)).map((module) => module.path),
    ).toEqual([]);
    const promises =
      /\b(TODO|FIXME|XXX|HACK|not (yet )?implemented|placeholder)\b|@ts-(ignore|expect-error)|biome-ignore/;
    expect(modules.filter((module) => promises.test(module.text)).map((module) => module.path)).toEqual([]);
  });
});
