// The source as one text that a thread can run, made in memory: no copy of a mutated file is ever on disk.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import * as esbuild from 'esbuild'
import { root, Unusable } from './catalogue.mjs'

/**
 * @param {string} entry Relative to the root.
 * @param {'cjs' | 'esm'} format
 * @param {ReadonlyMap<string, string>} sources What replaces files, by absolute path.
 * @returns {Promise<string>} Code that needs nothing but Node and the packages in node_modules.
 */
export async function bundle(entry, format, sources = new Map()) {
  const used = new Set()
  const { outputFiles } = await esbuild
    .build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      write: false,
      format,
      platform: 'node',
      target: 'node20',
      packages: 'external',
      // The code has no place of its own: what asks for one is told that of the entry.
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(path.join(root, entry)).href) },
      logLevel: 'silent',
      plugins: [
        {
          name: 'mutant',
          setup: (build) => {
            build.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
              const contents = sources.get(file)
              if (contents === undefined) return null
              used.add(file)
              return { contents, loader: 'ts' }
            })
          },
        },
      ],
    })
    .catch((error) => {
      throw new Unusable(`it does not compile: ${String(error)}`)
    })
  for (const file of sources.keys()) {
    if (!used.has(file)) throw new Unusable(`${path.relative(root, file)} is no part of what is simulated`)
  }
  return outputFiles[0]?.text ?? ''
}
