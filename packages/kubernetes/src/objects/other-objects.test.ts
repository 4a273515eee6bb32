import { expect, it } from 'vitest';
import type { OtherObject } from './objects.ts';
import { OtherObjects } from './other-objects.ts';

const object = (key: string, value: unknown): OtherObject => ({ kind: 'Other', key, value });

it('keeps the former objects until a list is complete, then holds what the list had', () => {
  let changes = 0;
  const objects = new OtherObjects(() => {
    changes += 1;
  });
  objects.upsert(object('a/x', 1));
  objects.listStarted();
  objects.upsert(object('a/y', 2));
  expect([...objects.values]).toEqual([['a/x', 1]]);
  expect(changes).toBe(1);
  objects.listCompleted();
  expect([...objects.values]).toEqual([['a/y', 2]]);
  expect([changes, objects.count()]).toEqual([2, 1]);
});

it('tells of each removal of an object that it has', () => {
  let changes = 0;
  const objects = new OtherObjects(() => {
    changes += 1;
  });
  objects.upsert(object('a/x', 1));
  objects.remove('a/none');
  objects.remove('a/x');
  expect([changes, objects.count()]).toEqual([2, 0]);
});

it('restarts a list that broke off', () => {
  const objects = new OtherObjects(() => {});
  objects.listStarted();
  objects.upsert(object('a/x', 1));
  objects.listStarted();
  objects.upsert(object('a/y', 2));
  objects.listCompleted();
  expect([...objects.values.keys()]).toEqual(['a/y']);
});
