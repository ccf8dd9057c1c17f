export {x} from './webhook/index.ts'
