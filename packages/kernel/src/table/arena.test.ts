import { describe, expect, it } from 'vitest';
import { Arena, roundToClass, TableFullError } from './arena.ts';

describe('Arena', () => {
  it('rounds to units, above 1 KiB to eighths', () => {
    expect([1, 16, 17, 1024].map(roundToClass)).toEqual([16, 16, 32, 1024]);
    expect(roundToClass(1025)).toBe(1152);
    expect(roundToClass(70_000)).toBe(73_728);
  });

  it('gives a freed block out again to the next of its size, and to no other', () => {
    const arena = new Arena(2 ** 21);
    const block = arena.take(100);
    arena.give(block, 100);
    expect(arena.take(200)).not.toBe(block);
    expect(arena.take(112)).toBe(block);
    expect(arena.used).toBe(112 + 208);
  });

  it('aligns pages and keeps them apart from blocks', () => {
    const arena = new Arena(2 ** 21);
    arena.take(16);
    const pages = arena.takePages(5000);
    expect(pages % 4096).toBe(0);
    arena.givePages(pages, 5000);
    expect(arena.takePages(8192)).toBe(pages);
  });

  it('keeps memory that is set aside from all others, as far as there is some', () => {
    const arena = new Arena(2 ** 21);
    const { touched } = arena;
    arena.setAside(2 ** 30);
    expect(() => arena.take(16)).toThrow(TableFullError);
    arena.takeAside(8192);
    expect(arena.touched).toBe(touched + 8192);
    expect(() => arena.take(16)).toThrow(TableFullError);
    arena.setAside(4096);
    arena.take(16);
    expect(() => arena.takeAside(2 ** 21)).toThrow(TableFullError);
    arena.takePages(2 ** 20);
    arena.takeAside(4096);
  });

  it('divides freed pages into blocks before it takes fresh memory', () => {
    const arena = new Arena(2 ** 21);
    const large = arena.takePages(8192);
    const small = arena.takePages(4096);
    arena.givePages(large, 8192);
    arena.givePages(small, 4096);
    const { touched } = arena;
    const sizes = [1008, 1008, 1008, 1008, 1008, 1024, 64];
    const blocks = sizes.map((size) => arena.take(size));
    const inSmall = [0, 1008, 2016, 3024].map((at) => small + at);
    expect(blocks).toEqual([...inSmall, large, large + 1008, small + 4032]);
    expect(arena.touched).toBe(touched);
    expect(arena.take(2000)).toBe(touched);
  });

  it('says how much it could not give, and goes on', () => {
    const arena = new Arena(2 ** 21);
    expect(() => arena.take(2 ** 21)).toThrow(TableFullError);
    expect(() => arena.take(2 ** 21)).toThrow('the answer table is full: 2097152 octets asked for');
    expect(arena.take(16)).toBeGreaterThan(0);
  });
});
