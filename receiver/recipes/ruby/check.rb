# frozen_string_literal: true

# Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md).
require_relative 'waybill'

$stdin.each_line do |line|
  secrets, now, method, target, lines, body = line.chomp.split(/ /, -1).map { |field| field.unpack1('m') }
  headers = lines.split("\n").to_h { |header| header.split(': ', 2) }
  known = secrets.empty? ? [''] : secrets.split(',', -1)
  problem = Waybill.problem(known, method, target, headers, body, now.to_i)
  puts problem.nil? ? ['true', *Waybill.written(headers)].flatten.compact.join(' ') : 'false'
rescue Waybill::BadSecret
  puts 'setup'
end
