import type { Plugin } from 'esbuild';

export declare const workspaces: Plugin;
