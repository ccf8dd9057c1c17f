import { choiceOutputOf, command, entryPoints, outputOf, runtimeChoices, sourcesByName } from '../entry-points.ts'
import { formatted, read } from '../repository.ts'
import type { Generator } from './generator.ts'

type Json = Record<string, unknown>

/** The file extensions of declarations and code for each condition of `exports`. */
const FORMATS = { import: { types: 'd.ts', code: 'js' }, require: { types: 'd.cts', code: 'cjs' } } as const

/** Writes the fields of package.json, tsconfig.base.json and typedoc.json that list the entry points. */
export const entryPointFiles: Generator = {
  name: 'entry-points',
  generate: () =>
    new Map([
      edited('package.json', packageFields),
      edited('tsconfig.base.json', ({ compilerOptions }) => ({
        compilerOptions: { ...(compilerOptions as Json), paths: paths() },
      })),
      edited('typedoc.json', () => ({ entryPoints: entryPoints.map(({ source }) => source) })),
    ]),
}

/** Replaces fields of a JSON file. */
function edited(file: string, fields: (content: Json) => Json): [string, string] {
  const content = JSON.parse(read(file)) as Json
  return [file, formatted(file, JSON.stringify({ ...content, ...fields(content) }, null, 2))]
}

function packageFields(): Json {
  return {
    main: './dist/index.cjs',
    module: './dist/index.js',
    types: './dist/index.d.ts',
    // For TypeScript with `moduleResolution: node10`, which ignores `exports`.
    typesVersions: {
      '*': Object.fromEntries(
        entryPoints
          .filter(({ name }) => name !== '.')
          .map((entry) => [outputOf(entry), [`./dist/${outputOf(entry)}.d.ts`]]),
      ),
    },
    exports: {
      ...Object.fromEntries(entryPoints.map((entry) => [entry.name, formats(outputOf(entry))])),
      './package.json': './package.json',
    },
    imports: Object.fromEntries(runtimeChoices.map((choice) => [choice.name, choiceOf(choice)])),
    bin: { [command.name]: './dist/cli/main.js' },
  }
}

const formats = (output: string): Json =>
  Object.fromEntries(
    Object.entries(FORMATS).map(([format, { types, code }]) => [
      format,
      { types: `./dist/${output}.${types}`, default: `./dist/${output}.${code}` },
    ]),
  )

const choiceOf = (choice: (typeof runtimeChoices)[number]): Json =>
  Object.fromEntries(
    Object.entries(FORMATS).map(([format, { code }]) => [
      format,
      {
        node: `./dist/${choiceOutputOf(choice, 'node')}.${code}`,
        default: `./dist/${choiceOutputOf(choice, 'default')}.${code}`,
      },
    ]),
  )

const paths = (): Json =>
  Object.fromEntries(Object.entries(sourcesByName).map(([name, source]) => [name, [`./${source}`]]))
