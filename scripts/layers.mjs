// Checks that imports flow one way: engine <- stores <- sim -> properties, with report and cli on top.
// It reads import statements only: whether an imported file exists is the compiler's business.
// A checker that saw next to no modules has checked nothing, so it fails: a wrong path must never pass.
//
//   node scripts/layers.mjs [SRC] [--modules-min N]
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'

const MODULES_MIN_DEFAULT = 20

/**
 * What a layer may import, beside its own folder. The first layer whose `folder` matches a module owns it.
 * @typedef {object} Layer
 * @property {string} name
 * @property {RegExp} folder    module paths under src
 * @property {RegExp[]} values  what it may import: module paths under src, `node:...`, or package names
 * @property {RegExp[]} types   the same for imports that vanish at run time
 * @property {boolean} computed whether `import(expression)` is allowed, which nobody can check
 * @property {string} reason    printed with each violation
 */

const SCHEMA = /^@standard-schema\/spec$/

/** @type {Layer[]} */
const LAYERS = [
  {
    name: 'engine/system.ts',
    folder: /^engine\/system\.ts$/,
    values: [/^engine\//, /^node:/],
    types: [SCHEMA],
    computed: false,
    reason:
      'it is the one file of the engine that touches the real machine, and knows nothing above the engine',
  },
  {
    name: 'engine',
    folder: /^engine\//,
    // node:util for isDeepStrictEqual alone: a pure function, nothing of the machine.
    values: [/^engine\//, /^node:util$/],
    types: [SCHEMA],
    computed: false,
    reason: 'the engine learns everything through its ports: what it imports, the simulation cannot replace',
  },
  {
    name: 'stores/conformance',
    folder: /^stores\/conformance\//,
    // node:assert/strict for what it is: the suite must run under any test runner, so it brings none.
    values: [/^stores\/conformance\//, /^node:assert\/strict$/],
    types: [/^engine\/(ports\/(store|retention)|jobs\/record)\.ts$/],
    computed: false,
    reason: 'the suite judges any store by the port alone: it must know neither a store nor a test runner',
  },
  {
    name: 'stores/sqlite',
    folder: /^stores\/sqlite\//,
    values: [/^stores\/(?!(memory|postgres|pglite)\/)/, /^engine\//, /^better-sqlite3$/],
    types: [],
    computed: false,
    reason:
      'it is the one folder that loads the SQLite driver, an optional peer; of the other stores it needs nothing',
  },
  {
    name: 'stores/postgres/connections',
    folder: /^stores\/postgres\/(index|pool|connections|hints|preparing)\.ts$/,
    values: [/^stores\/(?!(memory|sqlite|pglite)\/)/, /^engine\//, /^pg$/],
    types: [],
    computed: false,
    reason:
      'these files load the driver of PostgreSQL, an optional peer; of the other stores they need nothing',
  },
  {
    name: 'stores/postgres',
    folder: /^stores\/postgres\//,
    values: [
      /^stores\/(?!(memory|sqlite|pglite)\/|postgres\/(index|pool|connections|hints|preparing)\.ts)/,
      /^engine\//,
    ],
    types: [],
    computed: false,
    reason: 'what PostgreSQL and PGlite have in common needs no driver',
  },
  {
    name: 'stores/pglite/lock',
    folder: /^stores\/pglite\/lock\.ts$/,
    values: [/^stores\/errors\.ts$/, /^engine\//, /^node:(fs|path)$/],
    types: [],
    computed: false,
    reason: 'a directory is locked by a file in it; nothing else of a store touches files by itself',
  },
  {
    name: 'stores/pglite',
    folder: /^stores\/pglite\//,
    values: [
      /^stores\/(?!(memory|sqlite)\/|postgres\/(index|pool|connections|hints|preparing)\.ts)/,
      /^engine\//,
      /^@electric-sql\/pglite$/,
    ],
    types: [],
    computed: false,
    reason: 'it is the one folder that loads PGlite, an optional peer; nobody installs `pg` to use it',
  },
  {
    name: 'stores',
    folder: /^stores\//,
    values: [/^stores\//, /^engine\//],
    types: [],
    computed: false,
    reason:
      'a store implements a port of the engine; if it knew the bench, it could behave better under test',
  },
  {
    name: 'properties',
    folder: /^properties\//,
    values: [/^properties\//],
    types: [/^engine\/history(\.ts$|\/)/],
    computed: false,
    reason:
      'a property judges the recorded history alone: if it shared code with what it judges, it would share its bugs',
  },
  {
    name: 'sim/stores',
    folder: /^sim\/stores\/(pglite|postgres)\.ts$/,
    values: [/^sim\//, /^engine\//, /^stores\//, /^@electric-sql\/pglite$/, /^pg$/],
    types: [],
    computed: false,
    reason: 'these two open a database for the bench, and are loaded only when one asks for that store',
  },
  {
    name: 'sim/bench/peers',
    folder: /^sim\/bench\/(vitest|fast-check)\.ts$/,
    values: [/^sim\//, /^engine\//, /^vitest$/, /^fast-check$/],
    types: [],
    computed: false,
    reason: 'these two are the only files that load a test runner or fast-check, which are optional peers',
  },
  {
    name: 'sim/bench',
    folder: /^sim\/(bench\/|index\.ts$)/,
    values: [/^sim\/(?!bench\/(vitest|fast-check)\.ts)/, /^engine\//, /^properties\//, /^report\//, /^node:/],
    types: [],
    computed: false,
    reason:
      'it is the face for users, who are told of a failure in the words of a report; it needs no command',
  },
  {
    name: 'sim',
    folder: /^sim\//,
    values: [/^sim\/(?!bench\/|index\.ts)/, /^engine\//, /^stores\//, /^properties\//, /^node:/],
    types: [SCHEMA],
    computed: true,
    reason: 'the bench is a library that tests import: it must not need the command or a report format',
  },
  {
    name: 'telemetry',
    folder: /^telemetry\//,
    values: [/^telemetry\//, /^engine\//, /^@opentelemetry\/api$/],
    types: [],
    computed: false,
    reason:
      'it is the one folder that loads the OpenTelemetry API, an optional peer; it listens to the engine alone',
  },
  {
    name: 'report',
    folder: /^report\//,
    // How a time reads is one thing for the messages of properties and the reports around them.
    values: [/^report\//, /^engine\//, /^sim\//, /^node:/, /^properties\/model\/when\.ts$/],
    types: [/^properties\//],
    computed: false,
    reason: 'a report renders what a run found: it does not run properties and does not know the command',
  },
  {
    name: 'cli',
    folder: /^cli\//,
    values: [/./],
    types: [],
    computed: true,
    reason: 'the command is the top',
  },
  {
    name: 'index.ts',
    folder: /^index\.ts$/,
    values: [/^engine\//],
    types: [],
    computed: false,
    reason: 'it is the public face of the engine: whoever runs jobs in production must not load the bench',
  },
]

/** @typedef {{ specifier: string | undefined, typeOnly: boolean, line: number }} Import */

/**
 * @param {ts.ImportDeclaration | ts.ExportDeclaration} node
 * @returns {boolean} whether the whole statement vanishes at run time
 */
function isTypeOnly(node) {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  // `import { type A } from` stays in the output under verbatimModuleSyntax, as an import for its side effects.
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

/**
 * @param {string} file
 * @returns {Import[]} static, re-exporting, dynamic and type imports, and URLs of neighbouring modules
 */
function importsOf(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true)
  /** @type {Import[]} */
  const found = []
  /** @param {ts.Node} at @param {ts.Node | undefined} name @param {boolean} typeOnly */
  const add = (at, name, typeOnly) => {
    const line = source.getLineAndCharacterOfPosition(at.getStart(source)).line + 1
    found.push({ specifier: name && ts.isStringLiteralLike(name) ? name.text : undefined, typeOnly, line })
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      add(node, node.moduleSpecifier, isTypeOnly(node))
    } else if (ts.isImportTypeNode(node)) {
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0], false)
    } else if (ts.isNewExpression(node) && node.expression.getText(source) === 'URL') {
      // A worker's entry is an import in all but name.
      const name = node.arguments?.[0]
      if (name && ts.isStringLiteralLike(name) && /^\.{1,2}\/.*\.[cm]?[jt]s$/.test(name.text))
        add(node, name, false)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * @param {string} module   path under src
 * @param {Import} imported
 * @returns {string | undefined} what is wrong with it
 */
function violation(module, imported) {
  const layer = LAYERS.find(({ folder }) => folder.test(module))
  if (!layer) return `${module}:${imported.line} is in no layer: give its folder a rule in scripts/layers.mjs`
  if (imported.specifier === undefined) {
    if (layer.computed) return undefined
    return `${module}:${imported.line} imports a computed name, which no rule can check (${layer.name}: ${layer.reason})`
  }
  const { specifier } = imported
  const target = specifier.startsWith('.')
    ? path.posix.join(path.posix.dirname(module), specifier)
    : specifier
  const own = target.replace(/\.js$/, '.ts')
  if (layer.values.some((allowed) => allowed.test(own))) return undefined
  const asType = layer.types.some((allowed) => allowed.test(own))
  if (asType && imported.typeOnly) return undefined
  const how = asType ? 'imports values, where only types are allowed, from' : 'imports'
  return `${module}:${imported.line} ${how} ${own} (${layer.name}: ${layer.reason})`
}

/** @param {string} src @returns {string[]} module paths under src, with forward slashes, in a fixed order */
function modulesUnder(src) {
  if (!existsSync(src)) return []
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?ts$/.test(file))
    .map((file) => file.split(path.sep).join('/'))
    .sort()
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'modules-min': { type: 'string', default: String(MODULES_MIN_DEFAULT) } },
  })
  const modulesMin = Number(values['modules-min'])
  if (!Number.isSafeInteger(modulesMin) || modulesMin < 1)
    throw new RangeError('--modules-min must be 1 or more')
  const src = positionals[0] ?? fileURLToPath(new URL('../src', import.meta.url))

  const modules = modulesUnder(src)
  let imports = 0
  const violations = modules.flatMap((module) => {
    const all = importsOf(path.join(src, module))
    imports += all.length
    const whole = LAYERS.some(({ folder }) => folder.test(module))
      ? []
      : [{ specifier: '', typeOnly: false, line: 1 }]
    return (whole.length > 0 ? whole : all).flatMap((imported) => violation(module, imported) ?? [])
  })
  for (const line of violations) console.error(line)
  console.log(`layers: ${modules.length} modules, ${imports} imports, ${violations.length} violations`)
  if (modules.length < modulesMin) {
    console.error(
      `layers: ${modules.length} modules under ${src}, expected ${modulesMin} or more: nothing was proven`,
    )
  }
  process.exitCode = violations.length > 0 || modules.length < modulesMin ? 1 : 0
}

main()
