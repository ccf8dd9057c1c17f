import { fromNodeMiddleware } from 'h3'
import { receiver } from '../../utils/receiver.mjs'

export default fromNodeMiddleware(receiver.node)
