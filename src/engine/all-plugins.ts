/**
 * The plugins of all front ends, for plans that mix plugins of a Corefile with our own.
 */
import * as plainDefinitions from '../plugins/plain-plugins.ts';
import { findDefinition } from '../plugins/registry.ts';
import { createPluginMaker, finderIn } from './server-blocks/plugin-maker.ts';

const findPlain = finderIn(Object.values(plainDefinitions));

export const allPlugins = createPluginMaker((name) => findPlain(name) ?? findDefinition(name));
