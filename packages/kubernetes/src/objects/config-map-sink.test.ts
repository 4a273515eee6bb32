import { expect, it } from 'vitest';
import { ConfigMapSink } from './config-map-sink.ts';

function makeSink() {
  const seen: unknown[] = [];
  const sink = new ConfigMapSink('kube-dns', (data) => seen.push(data && Object.fromEntries(data)));
  const put = (a: string, name = 'kube-dns') =>
    sink.upsert({ kind: 'ConfigMap', namespace: 'kube-system', name, data: new Map([['a', a]]) });
  return { sink, seen, put };
}

it('tells of a list once it is complete, and of every change after it', () => {
  const { sink, seen, put } = makeSink();
  sink.listStarted();
  put('1');
  put('2');
  expect(seen).toEqual([]);
  sink.listCompleted();
  put('3');
  sink.remove('kube-system/kube-dns');
  expect(seen).toEqual([{ a: '2' }, { a: '3' }, undefined]);
});

it('knows that there is none', () => {
  const { sink, seen, put } = makeSink();
  sink.listStarted();
  sink.listCompleted();
  put('1');
  expect(sink.count()).toBe(1);
  // Deleted while the watch was down.
  sink.listStarted();
  sink.listCompleted();
  expect(seen).toEqual([undefined, { a: '1' }, undefined]);
  expect(sink.count()).toBe(0);
});

it('leaves others alone', () => {
  const { sink, seen, put } = makeSink();
  put('1', 'other');
  sink.remove('kube-system/not-kube-dns');
  expect(seen).toEqual([]);
});
