# frozen_string_literal: true

# Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md).
require_relative 'waybill'
require_relative 'waybill_v1a'

v1a = ARGV.shift == 'v1a'
$stdin.each_line do |line|
  secrets, now, method, target, lines, body = line.chomp.split(/ /, -1).map { |field| field.unpack1('m') }
  headers = lines.split("\n").to_h { |header| header.split(': ', 2) }
  known = secrets.empty? ? [''] : secrets.split(',', -1)
  problem = v1a ? WaybillV1a.problem(known, headers, body, now.to_i) : Waybill.problem(known, method, target, headers, body, now.to_i)
  written = v1a ? [] : Waybill.written(headers)
  puts problem.nil? ? ['true', *written].flatten.compact.join(' ') : 'false'
rescue Waybill::BadSecret, WaybillV1a::BadKey
  puts 'setup'
end
