import ts from 'typescript'
import { pathTo } from './repository.ts'

/** The compiled sources, with their TSDoc comments. */
export class Project {
  static #current: Project | undefined

  /** Compiles the sources on first use, which takes a second. */
  static get current(): Project {
    Project.#current ??= new Project()
    return Project.#current
  }

  readonly checker: ts.TypeChecker
  readonly #files: readonly ts.SourceFile[]

  private constructor() {
    const config = ts.readConfigFile(pathTo('tsconfig.json'), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, pathTo('.'))
    const roots = ['src/index.ts', 'src/endpoints/schemas.ts', 'src/testing/index.ts', 'src/console/protocol.ts']
    const program = ts.createProgram(roots.map(pathTo), options)
    this.checker = program.getTypeChecker()
    this.#files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(pathTo('src/')))
  }

  /** Returns an interface, a type or a class by name. @throws Error if there is none */
  declaration(name: string): ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration {
    for (const file of this.#files) {
      for (const statement of file.statements) {
        const isType =
          ts.isInterfaceDeclaration(statement) ||
          ts.isTypeAliasDeclaration(statement) ||
          ts.isClassDeclaration(statement)
        if (isType && statement.name?.text === name) return statement
      }
    }
    throw new Error(`src declares no type ${name}`)
  }

  /** Returns the description of a type, without its tags. */
  description(name: string): string {
    return this.#textOf(this.checker.getSymbolAtLocation(this.declaration(name).name as ts.Identifier))
  }

  /** Returns the members of an interface or class, in the order of declaration. */
  members(name: string): ReadonlyMap<string, Member> {
    const type = this.checker.getTypeAtLocation(this.declaration(name))
    return new Map(type.getProperties().map((symbol) => [symbol.name, this.#member(symbol)]))
  }

  #member(symbol: ts.Symbol): Member {
    const tags = symbol.getJsDocTags(this.checker).map(({ name, text }) => ({
      name,
      text: ts.displayPartsToString(text).trim(),
    }))
    const type = symbol.valueDeclaration && this.checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration)
    return {
      description: this.#textOf(symbol),
      optional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
      type: type ? this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation) : 'unknown',
      known: type ? knownStrings(type) : [],
      tags,
    }
  }

  #textOf(symbol: ts.Symbol | undefined): string {
    return symbol ? ts.displayPartsToString(symbol.getDocumentationComment(this.checker)).trim() : ''
  }
}

/** Returns the literals of a type such as `'a' | 'b' | (string & Record<never, never>)`. */
function knownStrings(type: ts.Type): string[] {
  if (!type.isUnion() || !type.types.some((part) => part.isIntersection())) return []
  return type.types.flatMap((part) => (part.isStringLiteral() ? [part.value] : []))
}

/** A field of an interface, or a method of a class. */
export interface Member {
  readonly description: string
  readonly optional: boolean
  readonly type: string
  /** The known values of a field that accepts any string. */
  readonly known: readonly string[]
  readonly tags: readonly { readonly name: string; readonly text: string }[]
}

/** Returns the section of docs/the-service.md that the comment of a method names. */
export function sectionOf(name: string, { description }: Member): { title: string; anchor: string } {
  const [, title] = /\bSee "([^"]+)" in docs\/the-service\.md/.exec(plain(description)) ?? []
  if (title === undefined) throw new Error(`the comment of ${name} names no section of docs/the-service.md`)
  const anchor = title
    .toLowerCase()
    .replace(/[^\w\s]/g, '')
    .replace(/\s+/g, '-')
  return { title, anchor }
}

/** Returns the first clause of a method's comment. */
export function summaryOf({ description }: Member): string {
  const [paragraph = ''] = description.split('\n\n')
  const [summary = ''] = paragraph.split(/(?<=\.)\s|:\s/)
  return plain(summary).replace(/\.$/, '')
}

/** Removes the remark that the name of a query parameter is assumed, where it is said once for all parameters. */
export const withoutAssumption = (text: string): string =>
  text.replace(' The name of the query parameter is assumed; see `queryNames`.', '')

/** Converts a comment to one line of Markdown. `{@link X}` becomes `X`. */
export const plain = (text: string): string =>
  text
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
