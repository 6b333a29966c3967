// Writes descs of DirectML's operators as JSON, ready for `dmlcheck validate -`.
// Made by `dmlcheck schema --format c++`, dmlcheck @VERSION@. Needs C++17 and DirectML.h.
//
//   dmlcheck::write(std::cout, desc);
//   hr = dmlcheck::check(device->CreateOperator(&desc, IID_PPV_ARGS(&op)), desc, "desc.json");

#ifndef DMLCHECK_DESC_H
#define DMLCHECK_DESC_H

#include <DirectML.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>

namespace dmlcheck {
namespace detail {

// The enumerations' values in order, without their prefixes.
@ENUMS@

// Writes JSON: the fields of the outermost desc on a line each, what is inside them on one line.
class Writer {
public:
    Writer()
    {
        text_.imbue(std::locale::classic());
    }

    std::string text() const
    {
        return text_.str();
    }

    // ---- fields of a struct

    template <class Value>
    void field(const char* name, const Value& value)
    {
        key(name);
        write(value);
    }

    // A pointer to one struct; null is left out.
    template <class Value>
    void pointer(const char* name, const Value* value)
    {
        if (value != nullptr) {
            field(name, *value);
        }
    }

    // A pointer to as many as the count says; null is left out, but for none.
    template <class Value>
    void array(const char* name, const Value* values, UINT count)
    {
        if (values == nullptr && count != 0) {
            return;
        }
        key(name);
        open('[');
        for (UINT index = 0; index < count; ++index) {
            next();
            write(values[index]);
        }
        close(']');
    }

    // A value that the enumeration does not have is written as its number.
    template <class Enum, std::size_t count>
    void choice(const char* name, Enum value, const char* const (&names)[count])
    {
        const auto number = static_cast<std::int64_t>(value);
        key(name);
        if (number >= 0 && number < static_cast<std::int64_t>(count)) {
            string(names[number]);
        } else {
            text_ << number;
        }
    }

    void flag(const char* name, BOOL value)
    {
        key(name);
        text_ << (value != 0 ? "true" : "false");
    }

#if DML_TARGET_VERSION >= 0x2100
    void scalar(const char* name, const DML_SCALAR_UNION& value, DML_TENSOR_DATA_TYPE type)
    {
        key(name);
        switch (type) {
        case DML_TENSOR_DATA_TYPE_FLOAT64: return real(value.Float64);
        case DML_TENSOR_DATA_TYPE_FLOAT32: return real(static_cast<double>(value.Float32));
        case DML_TENSOR_DATA_TYPE_FLOAT16: return half(value.UInt16);
        case DML_TENSOR_DATA_TYPE_INT64: return integer(value.Int64);
        case DML_TENSOR_DATA_TYPE_INT32: return integer(value.Int32);
        case DML_TENSOR_DATA_TYPE_INT16: return integer(value.Int16);
        case DML_TENSOR_DATA_TYPE_INT8: return integer(static_cast<int>(value.Int8));
        case DML_TENSOR_DATA_TYPE_UINT32: return integer(value.UInt32);
        case DML_TENSOR_DATA_TYPE_UINT16: return integer(value.UInt16);
        case DML_TENSOR_DATA_TYPE_UINT8: return integer(static_cast<unsigned>(value.UInt8));
        default: return integer(value.UInt64);
        }
    }
#endif

    // An operator and its fields: `operator` and `desc` outside, `Type` and `Desc` inside another.
    void operation(const DML_OPERATOR_DESC& desc, const char* type, const char* fields);

private:
    template <class Desc>
    void as(const char* name, const DML_OPERATOR_DESC& desc, const char* type, const char* fields);

    // ---- values

    void write(UINT value)
    {
        integer(value);
    }

    void write(INT value)
    {
        integer(value);
    }

    void write(FLOAT value)
    {
        real(static_cast<double>(value));
    }

    void write(const DML_SIZE_2D& size)
    {
        open('{');
        field("Width", size.Width);
        field("Height", size.Height);
        close('}');
    }

    void write(const DML_SCALE_BIAS& pair)
    {
        open('{');
        field("Scale", pair.Scale);
        field("Bias", pair.Bias);
        close('}');
    }

    void write(const DML_OPERATOR_DESC& desc)
    {
        operation(desc, "Type", "Desc");
    }

    void write(const DML_TENSOR_DESC& tensor)
    {
        open('{');
        if (tensor.Type == DML_TENSOR_TYPE_BUFFER && tensor.Desc != nullptr) {
            buffer(*static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor.Desc));
        } else {
            choice("Type", tensor.Type, tensor_type);
            key("Desc");
            text_ << "null";
        }
        close('}');
    }

    void buffer(const DML_BUFFER_TENSOR_DESC& tensor)
    {
        choice("DataType", tensor.DataType, tensor_data_type);
        if (tensor.Flags != DML_TENSOR_FLAG_NONE) {
            choice("Flags", tensor.Flags, tensor_flags);
        }
        field("DimensionCount", tensor.DimensionCount);
        array("Sizes", tensor.Sizes, tensor.DimensionCount);
        if (tensor.Strides != nullptr) {
            array("Strides", tensor.Strides, tensor.DimensionCount);
        }
        key("TotalTensorSizeInBytes");
        integer(tensor.TotalTensorSizeInBytes);
        if (tensor.GuaranteedBaseOffsetAlignment != 0) {
            field("GuaranteedBaseOffsetAlignment", tensor.GuaranteedBaseOffsetAlignment);
        }
    }

    // ---- numbers

    template <class Number>
    void integer(Number value)
    {
        text_ << value;
    }

    // 17 digits give back every double, and so every float. NaN and the infinities are told by their text,
    // because compilers may be told that there are none.
    void real(double value)
    {
        std::ostringstream digits;
        digits.imbue(std::locale::classic());
        digits.precision(17);
        digits << value;
        const std::string text = digits.str();
        if (text.find("nan") != std::string::npos) {
            string("nan");
        } else if (text.find("inf") != std::string::npos) {
            string(text[0] == '-' ? "-inf" : "inf");
        } else {
            text_ << text << (text.find_first_of(".e") == std::string::npos ? ".0" : "");
        }
    }

    void half(unsigned bits)
    {
        const bool is_negative = (bits & 0x8000u) != 0;
        const int exponent = static_cast<int>((bits >> 10) & 31u);
        const int fraction = static_cast<int>(bits & 1023u);
        if (exponent == 31) {
            string(fraction != 0 ? "nan" : is_negative ? "-inf" : "inf");
            return;
        }
        const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
        real(is_negative ? -size : size);
    }

    // ---- punctuation

    void string(const char* text)
    {
        text_ << '"' << text << '"';
    }

    void key(const char* name)
    {
        next();
        string(name);
        text_ << ": ";
    }

    void next()
    {
        if (!is_first_) {
            text_ << ',';
        }
        if (depth_ <= 2) {
            line();
        } else if (!is_first_) {
            text_ << ' ';
        }
        is_first_ = false;
    }

    void open(char bracket)
    {
        text_ << bracket;
        ++depth_;
        is_first_ = true;
    }

    void close(char bracket)
    {
        --depth_;
        if (depth_ < 2 && !is_first_) {
            line();
        }
        text_ << bracket;
        is_first_ = false;
    }

    void line()
    {
        text_ << '\n' << std::string(2 * depth_, ' ');
    }

    std::ostringstream text_;
    std::size_t depth_ = 0;
    bool is_first_ = true;
};

@FIELDS@

template <class Desc>
void Writer::as(const char* name, const DML_OPERATOR_DESC& desc, const char* type, const char* fields)
{
    open('{');
    key(type);
    string(name);
    key(fields);
    if (desc.Desc == nullptr) {
        text_ << "null";
    } else {
        open('{');
        write_fields(*this, *static_cast<const Desc*>(desc.Desc));
        close('}');
    }
    close('}');
}

inline void Writer::operation(const DML_OPERATOR_DESC& desc, const char* type, const char* fields)
{
    switch (desc.Type) {
@CASES@
    default: break;
    }
    // An operator that DirectML.h does not have at its DML_TARGET_VERSION: its number.
    open('{');
    key(type);
    text_ << '"' << static_cast<std::int64_t>(desc.Type) << '"';
    key(fields);
    open('{');
    close('}');
    close('}');
}

} // namespace detail

// Writes a desc as a JSON object with `operator` and `desc`.
inline void write(std::ostream& out, const DML_OPERATOR_DESC& desc)
{
    detail::Writer writer;
    writer.operation(desc, "operator", "desc");
    const std::string text = writer.text() + "\n";
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Writes a desc to a file where the creation of its operator failed, and returns the result of that.
inline HRESULT check(HRESULT result, const DML_OPERATOR_DESC& desc, const char* path)
{
    if (result < 0) {
        std::ofstream file(path, std::ios::binary);
        write(file, desc);
        file.close();
        if (!file) {
            std::cerr << "dmlcheck: " << path << " cannot be written\n";
        }
    }
    return result;
}

} // namespace dmlcheck

#endif // DMLCHECK_DESC_H
